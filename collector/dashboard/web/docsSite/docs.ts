/** The script of documentation pages: it copies code, and searches. */
import type { Search } from './search.ts'

let search: Promise<Search> | undefined

/** Loads the index and the search code on first use. */
const loadSearch = (): Promise<Search> => {
  search ??= import('./search.ts').then(({ openSearch }) => openSearch())
  return search
}

addCopyButtons()
startSearch()

function addCopyButtons(): void {
  // Browsers provide the clipboard only to pages on HTTPS and on localhost.
  if (!navigator.clipboard) return
  const status = document.createElement('p')
  status.className = 'visually-hidden'
  status.setAttribute('role', 'status')
  document.body.append(status)
  for (const figure of document.querySelectorAll('figure.code')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'copy'
    button.textContent = 'Copy'
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(figure.querySelector('code')?.textContent ?? '')
      button.textContent = 'Copied'
      status.textContent = 'Copied to the clipboard.'
      setTimeout(() => {
        button.textContent = 'Copy'
        status.textContent = ''
      }, 2_000)
    })
    figure.querySelector('figcaption')?.append(button)
  }
}

function startSearch(): void {
  const input = document.querySelector<HTMLInputElement>('#query')
  if (!input) return
  input.form?.addEventListener('submit', (event) => event.preventDefault())
  document.addEventListener('keydown', (event) => {
    if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    input.focus()
    input.select()
  })
  input.addEventListener('focus', async () => (await loadSearch()).attach(input), { once: true })
}
