/** All texts of the panel in Chinese, by area. */
import {approval} from '../approval/strings.zh.js';
import {chat} from '../chat/strings.zh.js';
import {form} from '../form/strings.zh.js';
import {hosts} from '../hosts/strings.zh.js';
import {models} from '../models/strings.zh.js';
import {queue} from '../queue/strings.zh.js';
import {results} from '../results/strings.zh.js';
import {shell} from '../shell/strings.zh.js';
import {tools} from '../tools/strings.zh.js';
import {ui} from '../ui/strings.zh.js';
import {panel} from '../../panel/strings.zh.js';

/** @type {Record<string, Record<string, import('./all-strings.js').Text>>} */
export const chinese = {approval, chat, form, hosts, models, panel, queue, results, shell, tools, ui};
