"""Agent Skills: folders with a SKILL.md, whose instructions a model reads when it needs them."""
