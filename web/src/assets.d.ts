declare module '*.css';
declare module '*.json' {
  const url: string;
  export default url;
}
declare module 'catalogue:*' {
  const sentences: Readonly<Record<string, string>>;
  export default sentences;
}
