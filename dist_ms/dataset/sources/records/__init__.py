"""Files of records: MindRecord and TFRecord."""
