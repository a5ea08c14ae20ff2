"""Large results as files, with quotas."""

from agentcore.store.artifacts.artifacts import MATCHES, Artifact, ArtifactStore
from agentcore.store.artifacts.files import unknown_artifact
from agentcore.store.artifacts.text_lines import split_lines
from agentcore.store.artifacts.text_search import QUERY_CHARS
