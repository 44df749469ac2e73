import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Session } from '../api.ts'
import { lazyPage } from '../lazyPage.tsx'
import { currentSearch, go } from '../router.tsx'
import { addressOf, type Place, placesFor, projectAddress, projectPlaces } from '../routes.ts'
import { isSingleKey } from '../singleKeys.ts'
import { viewSearch } from '../view/view.ts'

/** The open global dialog. */
const open = signal<'palette' | 'help' | null>(null)
const close = () => {
  open.value = null
}

const Palette = lazyPage(() => import('./palette.tsx').then(({ Palette }) => Palette))
const Help = lazyPage(() => import('./shortcutHelp.tsx').then(({ ShortcutHelp }) => ShortcutHelp))

const isApple = /Mac|iPhone|iPad/.test(navigator.platform)
const paletteKeys = isApple ? '⌘K' : 'Ctrl K'

/** A button for Ctrl-K, for users who do not know the shortcut or have no keyboard. */
export function GoAnywhere() {
  return (
    <button
      type="button"
      class="go-anywhere"
      onClick={() => {
        open.value = 'palette'
      }}
    >
      Go to… <kbd>{paletteKeys}</kbd>
    </button>
  )
}

/** Time limit for the letter after `g`. */
const chordMs = 1_500

/** Handles the keys that work on every page, and shows their dialogs. */
export function Shortcuts({
  session,
  projectId,
}: {
  session: Session
  projectId: string | undefined
}) {
  const { organization_id } = session.organization
  useEffect(() => {
    let goPressedAt = Number.NEGATIVE_INFINITY
    const places = new Map<string | undefined, readonly [place: Place, address: string]>([
      ...placesFor(session).map(
        (place) => [place.key, [place, addressOf(organization_id, place)]] as const,
      ),
      ...(projectId ? projectPlaces : []).map(
        (place) =>
          [place.key, [place, projectAddress(organization_id, projectId!, place)]] as const,
      ),
    ])
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey) {
        event.preventDefault()
        if (!document.querySelector('dialog[open]')) open.value = 'palette'
        return
      }
      if (!isSingleKey(event)) return
      if (event.key === '?') {
        event.preventDefault()
        open.value = 'help'
        return
      }
      const found = places.get(event.key)
      if (found && event.timeStamp - goPressedAt < chordMs) {
        const [{ hasView }, address] = found
        event.preventDefault()
        go(hasView ? address + viewSearch(currentSearch.value) : address)
      }
      goPressedAt = event.key === 'g' ? event.timeStamp : Number.NEGATIVE_INFINITY
    }
    // Before the page, so that a letter after `g` is not also a shortcut of the page.
    addEventListener('keydown', listen, true)
    return () => removeEventListener('keydown', listen, true)
  }, [session, projectId])
  if (open.value === 'palette')
    return <Palette session={session} projectId={projectId} close={close} />
  return open.value === 'help' ? (
    <Help session={session} projectId={projectId} paletteKeys={paletteKeys} close={close} />
  ) : null
}
