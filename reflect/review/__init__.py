"""What an operator decides: the queue, the repair of scope metadata, and lessons that cross projects."""
