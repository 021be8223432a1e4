"""The kinds of Core ML model: the members of `oneof Type` in Apple's `Model` message, by field number.

miltext declares only the ML Program and the pipelines; the bytes of every other kind stay unknown
fields of the `Model`, and this table has its name. Source: coremltools 9.0, `Model.proto`.
"""

from __future__ import annotations

MODEL_KINDS: dict[int, str] = {
    200: "pipelineClassifier",
    201: "pipelineRegressor",
    202: "pipeline",
    300: "glmRegressor",
    301: "supportVectorRegressor",
    302: "treeEnsembleRegressor",
    303: "neuralNetworkRegressor",
    304: "bayesianProbitRegressor",
    400: "glmClassifier",
    401: "supportVectorClassifier",
    402: "treeEnsembleClassifier",
    403: "neuralNetworkClassifier",
    404: "kNearestNeighborsClassifier",
    500: "neuralNetwork",
    501: "itemSimilarityRecommender",
    502: "mlProgram",
    555: "customModel",
    556: "linkedModel",
    560: "classConfidenceThresholding",
    600: "oneHotEncoder",
    601: "imputer",
    602: "featureVectorizer",
    603: "dictVectorizer",
    604: "scaler",
    606: "categoricalMapping",
    607: "normalizer",
    609: "arrayFeatureExtractor",
    610: "nonMaximumSuppression",
    900: "identity",
    2000: "textClassifier",
    2001: "wordTagger",
    2002: "visionFeaturePrint",
    2003: "soundAnalysisPreprocessing",
    2004: "gazetteer",
    2005: "wordEmbedding",
    2006: "audioFeaturePrint",
    3000: "serializedModel",
}
"""Field number in `Model` to the field's name."""


PIPELINES = ("pipeline", "pipelineClassifier", "pipelineRegressor")
"""The types of models made of models."""

PROGRAM = "mlProgram"
"""The type of an ML Program: the name of its field in `Model`."""
