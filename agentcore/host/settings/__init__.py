"""Settings as people see and change them: schema, values with origins, what a change does."""
