"""Looking at a call without running it: edited arguments, explanations, rules that are tried."""

from agentcore.host.review.completing import Completed, Completion
from agentcore.host.review.explaining import Explanation, Question, explain
from agentcore.host.review.rule_trial import Trial, TrialResult, try_rule
