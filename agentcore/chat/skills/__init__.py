"""Agent Skills: folders with a SKILL.md, whose instructions a model reads when it needs them."""

from agentcore.chat.skills.offered import READ_SKILL, Skill, SkillReading, read_skill_text, shorten_descriptions
from agentcore.chat.skills.skills import SkillListing, Skills, SkillState, SkillStatus
