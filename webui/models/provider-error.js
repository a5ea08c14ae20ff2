/** Readable texts for errors of a provider, in the user's language. */
import {hasText, t} from '../base/i18n.js';

/** @typedef {{type: string, message: string, context?: Record<string, unknown>}} ErrorObject */

/** Return why a provider could not be reached, or sent an invalid response; empty if the error contains no reason. @param {ErrorObject} error */
export function reasonOf({context}) {
  if (typeof context?.reason !== 'string') return '';
  const key = `models.reason.${context.reason}${context.reason === 'web_page' && context.title ? '_titled' : ''}`;
  return hasText(key) ? t(key, texts(context)) : '';
}

/** Return the message for an error of a request to a provider other than a chat response. @param {ErrorObject} error */
export function toldOf(error) {
  const key = `models.refused.${error.type}`;
  return reasonOf(error) || (hasText(key) ? t(key, texts(error.context ?? {})) : error.message);
}

/** Return the technical details, for debugging. @param {ErrorObject} error */
export function detailsOf({type, context}) {
  const {model, status, detail} = context ?? {};
  return [type, model, status && `HTTP ${status}`, detail].filter(Boolean).join('\n');
}

/** @param {Record<string, unknown>} context */
function texts({address, title, status}) {
  return {address: String(address ?? ''), title: String(title ?? ''), status: String(status ?? '')};
}
