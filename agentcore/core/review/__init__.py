"""Looking at a call without running it: edited arguments, explanations, rules that are tried."""

from agentcore.core.review.completing import Completed, Completion
from agentcore.core.review.explanation import Explanation, Question, explain_policy_decision
from agentcore.core.review.offer_examples import OfferExample, find_offer_examples
from agentcore.core.review.rule_trial import Trial, TrialResult, try_rule
