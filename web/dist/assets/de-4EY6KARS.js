var c={};export{c as default};
