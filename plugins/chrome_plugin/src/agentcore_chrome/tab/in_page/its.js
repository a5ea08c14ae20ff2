// A field takes the place of its form's property of that name (`<input name=children>`), an image or a form that of its
// document. So whatever may be a form or a document is read by `its(node)`: what the interfaces themselves have.

const isHidden = node => node instanceof HTMLFormElement || node instanceof Document;
const own = {
  get(node, name) {
    const value = Reflect.get(Object.getPrototypeOf(node), name, node);
    return typeof value === 'function' ? value.bind(node) : value;
  },
};
const its = node => (isHidden(node) ? new Proxy(node, own) : node);
