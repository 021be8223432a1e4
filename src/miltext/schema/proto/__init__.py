"""The messages of Apple's schema: MILSpec's Program with its parts, and the Model around it.

They live in a descriptor pool of miltext's own, under their true full names: coremltools registers the same names in
protobuf's default pool, and a pool accepts a name only once. To exchange messages with coremltools, pass bytes, or read
the fields of any message of that full name. Descriptors: `scripts/make_descriptors.py`, out of `schema/*.proto`;
Apple's notice: `LICENSE.Apple` beside this file.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.message import Message as Message  # noqa: TC002  # others import it from here

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor

_FOLDER = os.path.dirname(__file__)
_pool = descriptor_pool.DescriptorPool()


def _message_class(descriptor: Descriptor) -> type[Message]:
    """Return the class of a message, with the classes of the messages declared inside it as attributes."""
    if hasattr(message_factory, "GetMessageClass"):
        made = message_factory.GetMessageClass(descriptor)
    else:  # protobuf before 4.22
        made = message_factory.MessageFactory(_pool).GetPrototype(descriptor)
    for nested in descriptor.nested_types:
        if not hasattr(made, nested.name):  # protobuf in pure Python leaves this to the code protoc makes
            setattr(made, nested.name, _message_class(nested))
    return made


def _read_schema(name: str) -> dict[str, type[Message]]:
    """Return the classes of one file's messages by name; the files it imports come first."""
    with open(os.path.join(_FOLDER, f"{name}.binpb"), "rb") as file:
        _pool.AddSerializedFile(file.read())
    messages = _pool.FindFileByName(f"{name}.proto").message_types_by_name
    return {message: _message_class(descriptor) for message, descriptor in messages.items()}


_messages = {**_read_schema("MIL"), **_read_schema("FeatureTypes"), **_read_schema("Model")}
globals().update(_messages)
__all__ = list(_messages)
