// Files of examples/ are imported as text (build.mjs).
declare module '*.html' {
  const text: string
  export default text
}
declare module '*.jsx' {
  const text: string
  export default text
}
declare module '*.liquid' {
  const text: string
  export default text
}
declare module '*.php' {
  const text: string
  export default text
}
declare module '*/customer-events.js' {
  const text: string
  export default text
}
