"""What people see and type at a terminal."""
