/** Downloads content as a file. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content)
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  // The browser has started the download by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
