"""Large results as files, with quotas."""
