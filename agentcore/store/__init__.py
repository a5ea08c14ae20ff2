"""What outlives the process: the state folder, and one SQLite file with what the rooms in here keep."""
