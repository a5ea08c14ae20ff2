/** The context sent with a message besides the user's text: the page next to the panel. */
export {contextOf} from '../../../panel/tab/page-context.js';
