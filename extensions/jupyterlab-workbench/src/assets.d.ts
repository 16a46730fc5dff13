// Style sheets are bundled as text.
declare module "*.css" {
  const text: string;
  export default text;
}

// A worker's program, bundled as text: every shell starts it from memory.
declare module "*?inline" {
  const text: string;
  export default text;
}
