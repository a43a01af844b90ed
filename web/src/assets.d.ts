declare module '*.css';
declare module '*.json' {
  const url: string;
  export default url;
}
