"""Mounts of the sandbox outside the workspace: the visible system, hidden credentials, and the kernel's files."""

import os
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

# Files in which programs store credentials; if they were visible, a command with network access could leak them.
_CREDENTIALS = (
    ".ssh", ".gnupg", ".aws", ".azure", ".config/gcloud", ".config/gh", ".config/glab-cli", ".config/op", ".config/hub",
    ".config/rclone", ".config/containers/auth.json", ".config/doctl", ".config/sops", ".kube", ".docker", ".netrc",
    ".pypirc", ".git-credentials", ".config/git/credentials", ".cargo/credentials", ".cargo/credentials.toml",
    ".gem/credentials", ".m2/settings.xml", ".gradle/gradle.properties", ".terraform.d", ".terraformrc", ".vault-token",
    ".password-store", ".pgpass", ".my.cnf", ".s3cfg", ".boto", ".yarnrc.yml", ".composer/auth.json",
    ".local/share/keyrings", ".local/share/kwalletd", ".Xauthority", ".ICEauthority", ".thunderbird", ".mozilla",
    ".1password", ".bitwarden-ssh-agent.sock", ".git-credential-cache", ".cache/git/credential", ".config/pip/pip.conf",
    ".pip/pip.conf", ".config/pypoetry/auth.toml", ".bundle/config", ".nuget/NuGet/NuGet.Config", ".subversion/auth",
    ".local/share/jupyter/runtime", ".databrickscfg", ".oci", ".aliyun", ".config/hcloud", ".config/vercel",
    ".local/share/com.vercel.cli", ".netlify", ".config/netlify", ".fly", ".config/.wrangler", ".cloudflared",
    ".config/ngrok", ".ngrok2", ".kaggle", ".cache/huggingface/token", ".cache/huggingface/stored_tokens",
    ".config/chromium", ".config/google-chrome", ".config/microsoft-edge", ".config/BraveSoftware", ".config/vivaldi",
    ".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json", ".config/github-copilot",
    ".local/share/opencode/auth.json", ".local/share/fish/fish_history", ".zhistory", ".histfile",
    ".bash_history", ".zsh_history", ".python_history", ".node_repl_history", ".psql_history", ".mysql_history",
)  # fmt: skip
# Root in the sandbox owns these, and can read them without a capability.
_SYSTEM_CREDENTIALS = (
    "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/ssl/private", "/etc/krb5.keytab",
    "/etc/wireguard", "/etc/openvpn", "/etc/NetworkManager/system-connections", "/etc/kubernetes", "/etc/rancher",
    "/var/lib/kubelet", "/var/lib/docker", "/var/lib/containerd", "/var/lib/containers", "/var/lib/NetworkManager",
    "/etc/ssh/ssh_host_rsa_key", "/etc/ssh/ssh_host_ecdsa_key", "/etc/ssh/ssh_host_ed25519_key",
    "/var/spool/cron", "/var/lib/cloud", "/var/lib/tailscale", "/var/lib/postgresql", "/var/lib/mysql",
)  # fmt: skip
_ENVIRONMENT_CREDENTIALS = ("XAUTHORITY", "ICEAUTHORITY", "KUBECONFIG", "NETRC")
# These contain sockets of other programs, through which a command could act outside the sandbox.
_SOCKETS = ("/run", "/var/run")
_RESOLVER = "/run/systemd/resolve"
_TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108
# Only debuggers read these, and they reveal more than a command needs; runc and podman hide the same files.
_KERNEL_SECRETS = ("kcore", "keys", "latency_stats", "timer_list", "timer_stats", "sched_debug")


def list_system_mounts(kernel: Sequence[str]) -> Iterator[str]:
    """Yield bubblewrap options that mount the whole system read-only, with a private `/tmp`.

    The Python in use stays readable if it is below one of the hidden folders: commands run it and what is installed in
    it.

    Args:
        kernel: The result of `list_kernel_mounts`.
    """
    yield from ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", *kernel)
    for folder in _TEMPORARY:
        yield from ("--tmpfs", folder)
    for sockets in _SOCKETS:
        if os.path.isdir(sockets) and not os.path.islink(sockets):  # noqa: PTH112, PTH114
            yield from ("--tmpfs", sockets)
    yield from ("--ro-bind-try", _RESOLVER, _RESOLVER)
    for prefix in dict.fromkeys(os.path.realpath(path) for path in (sys.base_prefix, sys.prefix)):
        if any(prefix.startswith(f"{folder}/") for folder in (*_TEMPORARY, *_SOCKETS)):
            yield from ("--ro-bind-try", prefix, prefix)


def find_hidden_paths(private: Sequence[Path]) -> dict[str, bool]:
    """Return the credentials and private folders that exist, by their real paths, and True for folders."""
    home = os.path.expanduser("~")  # noqa: PTH111  (a Path for each of them would take longer than the rest)
    named = (os.environ.get(name, "").partition(os.pathsep)[0] for name in _ENVIRONMENT_CREDENTIALS)
    ours = _SYSTEM_CREDENTIALS if os.geteuid() == 0 else ()  # another user cannot read them anyway
    paths = (*map(str, private), *_list_credentials(home), *filter(None, named), *ours)
    # `access` does not raise an exception for each of the many that do not exist
    real = dict.fromkeys(os.path.realpath(path) for path in paths if os.access(path, os.F_OK))
    return {path: os.path.isdir(path) for path in real}  # noqa: PTH112


@lru_cache(maxsize=1)
def _list_credentials(home: str) -> tuple[str, ...]:
    return tuple(f"{home}/{name}" for name in _CREDENTIALS)


def list_hidden_mounts(hidden: Mapping[str, bool], roots: Sequence[Path], *, holds_root: bool) -> Iterator[str]:
    """Yield bubblewrap options that hide credentials and private folders.

    Args:
        hidden: The result of `find_hidden_paths`.
        roots: The workspace roots.
        holds_root: True for the paths that contain a root, which is mounted afterwards. False for all others: they are
            mounted last, so that they are hidden in a root, too.
    """
    above = {str(parent) for root in roots for parent in root.parents}.union(map(str, roots))
    for path, is_folder in hidden.items():
        if (path in above) is holds_root:
            yield from ("--tmpfs", path) if is_folder else ("--ro-bind", os.devnull, path)


def list_kernel_mounts() -> tuple[str, ...]:
    """List bubblewrap options that make the kernel's files in /proc read-only or hidden; slow, so call it once.

    Root in the sandbox has no capabilities, but owns the files below /proc/sys and may write them unless they are
    mounted read-only. `/sys` is read-only with the rest of the system.
    """
    options: list[str] = []
    for path in sorted(Path("/proc").iterdir()):
        if path.name.isdigit() or path.is_symlink():
            continue
        if path.name in _KERNEL_SECRETS:
            options += ("--ro-bind", os.devnull, str(path))
        elif _can_be_written(str(path)):
            options += ("--ro-bind-try", str(path), str(path))
    return tuple(options)


def _can_be_written(path: str) -> bool:
    """True if the path is or contains a regular file that may be writable for this user."""
    for above, _, names in os.walk(path) if os.path.isdir(path) else [("/", [], [path])]:  # noqa: PTH112
        for name in names:
            try:
                status = os.lstat(os.path.join(above, name))  # noqa: PTH118
            except OSError:
                continue  # it was removed
            writable = 0o222 if status.st_uid == os.geteuid() else 0o022
            if stat.S_ISREG(status.st_mode) and status.st_mode & writable:
                return True
    return False
