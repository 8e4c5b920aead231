"""What one repository remembers, as a person asks for it day by day. Reads; changes nothing."""
