/**
 * Classifies an upstream's 403 or 404 by its text: can the client fix the request, or must the operator of the gateway
 * act?
 */
import type { UpstreamErrorText } from "./error-text.ts";

/** Rejected content: xAI, OpenRouter's moderation, Azure, AWS's guardrails. */
const CONTENT_POLICY =
  /usage (?:guidelines|polic)|content[ _-](?:polic|filter|management)|\bmoderation\b|data[ _]?inspection|inappropriate content|content exists risk|\bflagged\b|safety (?:check|system|polic|guideline|filter)|SAFETY_CHECK|prohibited content|guardrail|\b(?:content|prompt|input)s?\b[^.]{0,60}\b(?:violat|unsafe|harmful)/i;
/** Similar phrases about access rules of the gateway's account. */
const ABOUT_ACCESS =
  /organi[sz]ation'?s? polic|service controls?\b|\biam\b|not authorized to perform|access denied|data polic/i;

/** Parts of a request that a model or its server may not support. */
const FEATURE =
  "(?:tools?|tool[ _]use|tool_choice|functions?|images?|vision|audio|video|files?|pdfs?|documents?|json|schemas?|response_format|structured|parameters?|reasoning|thinking|streaming|system|cache|logprobs|stop|temperature|modalit)";
const UNSUPPORTED = new RegExp(
  `\\b(?:not|n't|endpoints? found that|cannot)\\b[^.]{0,40}\\b(?:support(?:s|ed)?|handle)\\b[^.]{0,60}${FEATURE}|${FEATURE}[^.]{0,60}\\b(?:not|n't) (?:supported?|enabled|available)\\b`,
  "i",
);
/** A missing thing that the client named. */
const MISSING_RESOURCE =
  /\b(?:file|container|response|item|conversation|vector store|batch|image|skill|prompt|cached content|tool output)s?\b[^.]{0,80}\b(?:not found|does not exist|doesn't exist|could not be found|no such|not be (?:fetched|downloaded))\b|\bno tool output found\b|\b(?:not found|no such)\b[^.]{0,20}\b(?:file|container|response|item|conversation|vector store|batch|image|skill|prompt|cached content|tool output)\b/i;

/** Text after this may be the request's own. */
const READ_CHARACTERS = 500;

/** Returns whether the content of the request is rejected. */
export function isContentRefusal({ message, code, type }: UpstreamErrorText): boolean {
  const words = [code, type, message?.slice(0, READ_CHARACTERS)].filter(Boolean).join(" ");
  return CONTENT_POLICY.test(words) && !ABOUT_ACCESS.test(words);
}

/** Returns whether the request uses an unsupported feature or names a missing thing. */
export function isRequestRefusal({ message }: UpstreamErrorText): boolean {
  const words = message?.slice(0, READ_CHARACTERS) ?? "";
  return (UNSUPPORTED.test(words) || MISSING_RESOURCE.test(words)) && !ABOUT_ACCESS.test(words);
}
