/** The page tools as described to models. */
import {ACTIONS, DIRECTIONS, REGIONS, TYPES} from './arguments.js';
import {languageOf} from './strings.js';

/** @typedef {{name: string, description: string, parameters: Record<string, any>}} Tool */

const WORDS = {
  en: {
    page_action: 'Act in the page that the person sees, in order: fill, click, highlight, underline, select, check, scroll, read.',
    actions: 'What to do, in this order.',
    target: 'The element, by elementId where one is known; {} is the selection, or the page to scroll.',
    elementId: 'An id from the list of elements.',
    selector: 'A CSS selector.',
    description: 'What the element is called, where no id is known.',
    value: 'The text to fill in; the option to select; true or false to check; the text to highlight.',
    color: 'A CSS colour.',
    direction: 'Where to scroll.',
    request_more_elements: 'Get elements of the page that were not listed, with their ids.',
    region: 'Only those in this part of the page.',
    elementType: 'Only those of this kind.',
    keyword: 'Only those whose text, placeholder or label has this.',
    get_selected_text: 'Get the text that the person has selected in the page.',
    clear_ai_styles: 'Take away all highlights and underlines that were made in the page.',
  },
  zh: {
    page_action: '在用户看到的页面中依次执行操作：fill（填写）、click（点击）、highlight（高亮）、underline（下划线）、select（选择）、check（勾选）、scroll（滚动）、read（读取）。',
    actions: '要依次执行的操作。',
    target: '目标元素，已知 id 时用 elementId；{} 表示选中的内容，滚动时表示页面。',
    elementId: '元素列表中的 id。',
    selector: 'CSS 选择器。',
    description: '不知道 id 时，元素的名称。',
    value: '要填写的文字；要选择的选项；勾选用 true 或 false；要高亮的文字。',
    color: 'CSS 颜色。',
    direction: '滚动方向。',
    request_more_elements: '获取页面中未列出的元素及其 id。',
    region: '只要页面这一部分的元素。',
    elementType: '只要这一类元素。',
    keyword: '只要文字、占位符或标签包含此内容的元素。',
    get_selected_text: '获取用户在页面中选中的文字。',
    clear_ai_styles: '清除在页面中添加的所有高亮和下划线。',
  },
};

/** Return the tools, described in a language. @param {string} [locale] @returns {Tool[]} */
export function pageTools(locale) {
  const words = WORDS[languageOf(locale)];
  /** @param {string} description @param {string[]} [known] */
  const string = (description, known) => ({type: 'string', description, ...(known ? {enum: known} : {})});
  const {elementId, selector, description, value, color, direction, region, elementType, keyword} = words;
  const target = {type: 'object', description: words.target, properties: {elementId: string(elementId), selector: string(selector), description: string(description)}};
  const params = {type: 'object', properties: {value: string(value), color: string(color), direction: string(direction, DIRECTIONS)}};
  const action = {type: 'object', properties: {action: {type: 'string', enum: ACTIONS}, target, params}, required: ['action', 'target']};
  const none = {type: 'object', properties: {}};
  return [
    {name: 'page_action', description: words.page_action, parameters: {type: 'object', properties: {actions: {type: 'array', description: words.actions, items: action, minItems: 1}}, required: ['actions']}},
    {name: 'request_more_elements', description: words.request_more_elements, parameters: {type: 'object', properties: {region: string(region, REGIONS), elementType: string(elementType, TYPES), keyword: string(keyword)}}},
    {name: 'get_selected_text', description: words.get_selected_text, parameters: none},
    {name: 'clear_ai_styles', description: words.clear_ai_styles, parameters: none},
  ];
}

/** The tools in English. */
export const PAGE_TOOLS = pageTools('en');
