/** Describes page tool calls for the user. Hidden characters in text from the model or the page are made visible. */
import {hasText, t} from '../../webui/base/i18n.js';
import {visibleText} from '../../webui/approval/guard/visible-text.js';

/** @typedef {Record<string, {desc: string}>} Elements  by id */

const TOOLS = new Set(['page_action', 'request_more_elements', 'get_selected_text', 'clear_ai_styles']);

/** Return true if a tool acts in the page. @param {string} toolName */
export const doesInPage = (toolName) => TOOLS.has(toolName);

/** @param {string} toolName @param {Record<string, any>} args @param {Elements} elements @returns {string[]} one line for each action */
export function linesOf(toolName, args, elements) {
  if (toolName === 'page_action') return actionsIn(args).map((action) => lineOf(action, elements));
  if (toolName === 'request_more_elements') {
    const wanted = [args.elementType !== 'all' && args.elementType, args.region, args.keyword].filter(Boolean).map((value) => visibleText(String(value)));
    return [wanted.length ? t('panel.do.moreOf', {wanted: wanted.join(' · ')}) : t('panel.do.more')];
  }
  return [hasText(`panel.do.${toolName}`) ? t(`panel.do.${toolName}`) : visibleText(toolName)];
}

/** @param {Record<string, any>} args @returns {any[]} */
export function actionsIn(args) {
  return Array.isArray(args.actions) ? args.actions : [];
}

/** @param {any} action @param {Elements} elements */
function lineOf({action, target = {}, params = {}}, elements) {
  const where = nameOf(target, elements);
  const value = visibleText(String(params?.value ?? ''));
  const key = `panel.do.${action}`;
  if (action === 'scroll') return where ? t('panel.do.scrollTo', {target: where}) : t(`panel.do.scroll.${['up', 'top', 'bottom'].includes(params?.direction) ? params.direction : 'down'}`);
  if (action === 'check') return t(['false', 'off', 'no', '0'].includes(value.toLowerCase()) ? 'panel.do.uncheck' : 'panel.do.check', {target: where});
  if ((action === 'highlight' || action === 'underline') && value && !where) return t(`${key}Text`, {value});
  if (!hasText(key)) return visibleText(String(action));
  return t(key, {value, target: where || t('panel.selection')});
}

/** @param {any} target @param {Elements} elements @returns {string} empty: the selection, or the page */
function nameOf(target, elements) {
  const {elementId, description, selector} = target ?? {};
  const known = typeof elementId === 'string' ? elements[elementId]?.desc : '';
  return visibleText(String(known || description || selector || elementId || ''));
}
