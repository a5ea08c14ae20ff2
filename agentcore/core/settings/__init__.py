"""Settings as users see and change them: schema, values with origins, effects of a change."""
