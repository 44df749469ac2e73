import MiniSearch from 'minisearch'

/** A part of a page in `/docs/search.json`. */
interface Entry {
  url: string
  title: string
  page: string
  text: string
}

export interface Search {
  /** Shows results below the field while the user types. */
  attach(input: HTMLInputElement): void
}

const resultsMax = 8

/** Loads the search index. */
export async function openSearch(): Promise<Search> {
  const answer = await fetch('/docs/search.json')
  const entries: Entry[] = await answer.json()
  const index = new MiniSearch<Entry & { id: number }>({
    fields: ['title', 'text', 'page'],
    storeFields: ['url', 'title', 'page'],
    // Names such as `ignored_hosts` are indexed as one word and by their parts.
    processTerm: (term) => [term, ...term.split('_')].map((part) => part.toLowerCase()),
    searchOptions: {
      boost: { title: 4, page: 2 },
      prefix: true,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      combineWith: 'AND',
      processTerm: (term) => term.toLowerCase(),
    },
  })
  index.addAll(entries.map((entry, id) => ({ ...entry, id })))
  const find = (query: string) =>
    index.search(query).slice(0, resultsMax) as unknown as (Entry & { id: number })[]
  return {
    attach: (input) => attach(input, find),
  }
}

/** A combobox with a list of links, as the ARIA Authoring Practices describe it. */
function attach(input: HTMLInputElement, find: (query: string) => Entry[]): void {
  const list = document.querySelector<HTMLElement>('#results')!
  const status = input.form!.querySelector<HTMLElement>('[role=status]')!
  let chosen = -1

  const choose = (next: number) => {
    chosen = next
    for (const [n, option] of [...list.children].entries())
      option.setAttribute('aria-selected', String(n === chosen))
    const option = list.children[chosen]
    if (option) input.setAttribute('aria-activedescendant', option.id)
    else input.removeAttribute('aria-activedescendant')
    option?.scrollIntoView({ block: 'nearest' })
  }
  const open = (isOpen: boolean) => {
    list.hidden = !isOpen
    input.setAttribute('aria-expanded', String(isOpen))
  }
  const show = () => {
    const query = input.value.trim()
    const found = query === '' ? [] : find(query)
    list.replaceChildren(...found.map(optionOf))
    choose(found.length > 0 ? 0 : -1)
    open(found.length > 0)
    status.textContent =
      query === '' ? '' : found.length === 0 ? 'No results.' : `${found.length} results.`
    input.form!.toggleAttribute('data-empty', query !== '' && found.length === 0)
  }

  input.addEventListener('input', show)
  input.addEventListener('focus', show)
  input.addEventListener('keydown', (event) => {
    const { length } = list.children
    if (event.key === 'Escape') {
      open(false)
    } else if (event.key === 'Enter') {
      ;(list.children[chosen] as HTMLElement | undefined)?.click()
      open(false)
    } else if (length > 0 && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
      event.preventDefault()
      open(true)
      choose((chosen + (event.key === 'ArrowDown' ? 1 : length - 1)) % length)
    }
  })
  document.addEventListener('pointerdown', ({ target }) => {
    if (target instanceof Node && !input.form!.contains(target)) open(false)
  })
  list.addEventListener('click', () => open(false))
  input.form!.addEventListener('focusout', ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && input.form!.contains(relatedTarget))) open(false)
  })
  show()
}

function optionOf({ url, title, page }: Entry, n: number): HTMLElement {
  const option = document.createElement('a')
  option.id = `result-${n}`
  option.role = 'option'
  option.href = url
  // Users reach the option with the arrow keys of the field.
  option.tabIndex = -1
  const name = document.createElement('span')
  name.textContent = title
  const place = document.createElement('small')
  place.textContent = page
  option.append(name, place)
  return option
}
