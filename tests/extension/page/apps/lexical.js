import {registerRichText} from '@lexical/rich-text';
import {$createParagraphNode, $createTextNode, $getRoot, createEditor} from 'lexical';

const element = document.getElementById('app').appendChild(document.createElement('div'));
element.contentEditable = 'true';
element.setAttribute('role', 'textbox');
element.setAttribute('aria-label', 'Letter');
const editor = createEditor({namespace: 'test', onError: (error) => { throw error; }});
registerRichText(editor);
editor.setRootElement(element);
editor.update(() => { $getRoot().append($createParagraphNode().append($createTextNode('What was there'))); });
window.textOf = () => editor.getEditorState().read(() => $getRoot().getTextContent()).replace(/\n+/g, '\n');
