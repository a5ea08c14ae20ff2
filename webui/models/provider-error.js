/** What went wrong at a provider, in the words and the language of a person. */
import {hasText, t} from '../base/i18n.js';

/** @typedef {{type: string, message: string, context?: Record<string, unknown>}} ErrorObject */

/** Why a provider could not be asked, or sent what is no answer; empty: the error does not say. @param {ErrorObject} error */
export function reasonOf({context}) {
  if (typeof context?.reason !== 'string') return '';
  const key = `models.reason.${context.reason}${context.reason === 'web_page' && context.title ? '_titled' : ''}`;
  return hasText(key) ? t(key, texts(context)) : '';
}

/** What a person is told who has asked a provider for something else than an answer. @param {ErrorObject} error */
export function toldOf(error) {
  const key = `models.refused.${error.type}`;
  return reasonOf(error) || (hasText(key) ? t(key, texts(error.context ?? {})) : error.message);
}

/** The technical words, for whoever mends it. @param {ErrorObject} error */
export function detailsOf({type, context}) {
  const {model, status, detail} = context ?? {};
  return [type, model, status && `HTTP ${status}`, detail].filter(Boolean).join('\n');
}

/** @param {Record<string, unknown>} context */
function texts({address, title, status}) {
  return {address: String(address ?? ''), title: String(title ?? ''), status: String(status ?? '')};
}
