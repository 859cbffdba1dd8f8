"""MindSpore's datasets that dist_ms does not read; making one of them raises an error."""

from dist_ms.common.refusing import refused

_REMEDY = "Read the files in a class with __getitem__ and __len__, and give it to GeneratorDataset."

# What dist_ms does not do, and the datasets that need it.
_NEEDS = {
    "has no reader for this data set's files": """
    AGNewsDataset AmazonReviewDataset CLUEDataset CMUArcticDataset Caltech101Dataset Caltech256Dataset
    CelebADataset CityscapesDataset CoNLL2000Dataset CocoDataset DBpediaDataset DIV2KDataset
    EnWik9Dataset FakeImageDataset FlickrDataset Flowers102Dataset Food101Dataset
    GTZANDataset IMDBDataset IWSLT2016Dataset IWSLT2017Dataset KITTIDataset LFWDataset
    LJSpeechDataset LSUNDataset LibriTTSDataset Multi30kDataset OmniglotDataset PennTreebankDataset
    PhotoTourDataset Places365Dataset RenderedSST2Dataset SBDataset SBUDataset SQuADDataset
    SST2Dataset STL10Dataset SUN397Dataset SVHNDataset SemeionDataset SogouNewsDataset SpeechCommandsDataset
    TedliumDataset UDPOSDataset USPSDataset VOCDataset WIDERFaceDataset WikiTextDataset YahooAnswersDataset
    YelpReviewDataset YesNoDataset """,
    "reads no MindRecord files": "MindDataset OBSMindDataset",
    "reads no TFRecord files": "TFRecordDataset",
    "reads no text or manifest files": "CSVDataset ManifestDataset TextFileDataset",
    "makes no random or padding rows": "PaddedDataset RandomDataset",
}

_REFUSED = {name: refused(name, lacks, _REMEDY) for lacks, names in _NEEDS.items() for name in names.split()}
globals().update(_REFUSED)

__all__ = sorted(_REFUSED)
