"""The command `miltext` as a process, also as `python -m miltext`."""

import gc


def main() -> None:
    """Run the command and end the process."""
    gc.disable()  # what is imported stays, and looking through it for garbage takes time
    from miltext.cli import command

    gc.freeze()
    gc.enable()
    command(prog_name="miltext")


if __name__ == "__main__":
    main()
