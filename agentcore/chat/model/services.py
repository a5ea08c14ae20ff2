"""Services and servers of models, one record each: their names, addresses and keys. A new one needs only a record."""

from collections.abc import Mapping

from agentcore.chat.model.providers import PROVIDERS, ProviderName
from agentcore.late_dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A service, or a kind of server, that speaks the protocol of a provider.

    Attributes:
        name: Its name in app.json and the API; `NAME:MODEL` names one of its models.
        label: Its name for users, by language.
        protocol: The provider whose protocol it speaks.
        base_url: Its address; empty: each account has one of its own.
        key_variable: The environment variable of its key; empty: there is no usual one.
        key_prefix: Prefix of its keys, by which a key that was entered for another service is recognised.
        example_url: The form of addresses, where each account has one of its own.
        is_local: True if it runs on this machine, and needs a key only if it was started with one.
    """

    name: str
    label: Mapping[str, str]
    protocol: ProviderName
    base_url: str
    key_variable: str = ""
    key_prefix: str = ""
    example_url: str = ""
    is_local: bool = False

    @property
    def default_base_url(self) -> str | None:
        """The address that requests use if none is set; None: the protocol's own."""
        return None if self.name == self.protocol else self.base_url or None


def _service(name: str, label: str, base_url: str, key_variable: str = "", **more: str | bool) -> Service:
    return Service(
        name=name,
        label={"en": label, "zh": label},
        protocol="openai",
        base_url=base_url,
        key_variable=key_variable,
        **more,  # type: ignore[arg-type]  # fields by name
    )


def _local(name: str, label: str, base_url: str) -> Service:
    return _service(name, label, base_url, is_local=True)


_PROTOCOLS = tuple(
    Service(
        name=provider.name,
        label=provider.label,
        protocol=provider.name,
        base_url=provider.base_url,
        key_variable=provider.key_variable,
        key_prefix=provider.key_prefix,
    )
    for provider in PROVIDERS.values()
)

_OTHERS = (
    # its deployments are the names of models; the list has all models of the region
    _service(
        "azure", "Azure OpenAI", "", "AZURE_OPENAI_API_KEY", example_url="https://NAME.openai.azure.com/openai/v1"
    ),
    _service("deepseek", "DeepSeek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    _service(
        "gemini",
        "Gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "GEMINI_API_KEY",
        key_prefix="AIza",
    ),
    _service("groq", "Groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", key_prefix="gsk_"),
    _service("mistral", "Mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    _service("moonshot", "Moonshot", "https://api.moonshot.cn/v1", "MOONSHOT_API_KEY"),
    _service("openrouter", "OpenRouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", key_prefix="sk-or-"),
    _service("qwen", "Qwen", "https://dashscope.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY"),
    _service("siliconflow", "SiliconFlow", "https://api.siliconflow.cn/v1", "SILICONFLOW_API_KEY"),
    _service("xai", "xAI", "https://api.x.ai/v1", "XAI_API_KEY", key_prefix="xai-"),
    _local("ollama", "Ollama", "http://127.0.0.1:11434/v1"),
    _local("lm_studio", "LM Studio", "http://127.0.0.1:1234/v1"),
    _local("llama_cpp", "llama.cpp", "http://127.0.0.1:8080/v1"),
    _local("vllm", "vLLM", "http://127.0.0.1:8000/v1"),
    _local("jan", "Jan", "http://127.0.0.1:1337/v1"),
    _local("gpt4all", "GPT4All", "http://127.0.0.1:4891/v1"),
    _local("koboldcpp", "KoboldCpp", "http://127.0.0.1:5001/v1"),
    _local("docker", "Docker Model Runner", "http://127.0.0.1:12434/engines/v1"),
)

SERVICES: Mapping[str, Service] = {service.name: service for service in (*_PROTOCOLS, *_OTHERS)}
"""All services by name, in the order in which they are offered; first those whose protocols the others speak."""
