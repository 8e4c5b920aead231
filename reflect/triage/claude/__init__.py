"""The engine that asks a Claude model, and checks every word it is told before anything rests on it."""
