/** Texts of the page, by feature folder and language; each folder defines its own in `strings.js`. Those that the first view does not show are added by `later-strings.js`. */
import {approval} from '../approval/strings.js';
import {chat} from '../chat/strings.js';
import {models} from '../models/strings.js';
import {modulePages} from '../module-pages/strings.js';
import {questions} from '../questions/strings.js';
import {queue} from '../queue/strings.js';
import {requirements} from '../requirements/strings.js';
import {results} from '../results/strings.js';
import {shell} from '../shell/strings.js';
import {tabs} from '../tabs/strings.js';
import {tools} from '../tools/strings.js';
import {ui} from '../ui/strings.js';
import {views} from '../views/strings.js';

/** @typedef {'en' | 'zh'} Locale */
/** @typedef {string | Partial<Record<Intl.LDMLPluralRule, string>>} Text  a text, or one for each plural category of `n` */

/** @type {Record<string, Record<Locale, Record<string, Text>>>} */
export const strings = {approval, chat, 'module-pages': modulePages, models, questions, queue, requirements, results, shell, tabs, tools, ui, views};
