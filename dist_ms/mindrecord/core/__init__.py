"""The parts that MindSpore's FileReader, FileWriter and MindPage are made of, over the files of this package."""
