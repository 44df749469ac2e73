import { useState } from 'preact/hooks'
import type { Session } from '../api.ts'
import { Dialog } from '../components/dialog.tsx'
import { type Place, placesFor, projectPlaces } from '../routes.ts'
import { areSingleKeysOn, switchSingleKeys } from '../singleKeys.ts'
import { viewKeys } from '../view/keys.ts'

/** The list of keyboard shortcuts. */
export function ShortcutHelp({
  session,
  projectId,
  paletteKeys,
  close,
}: {
  session: Session
  projectId: string | undefined
  paletteKeys: string
  close(): void
}) {
  const [isOn, setOn] = useState(areSingleKeysOn())
  const places = [...(projectId ? projectPlaces : []), ...placesFor(session)]
  return (
    <Dialog title="Keyboard shortcuts" close={close}>
      <label class="option">
        <input
          type="checkbox"
          checked={isOn}
          onChange={({ currentTarget: { checked } }) => {
            switchSingleKeys(checked)
            setOn(checked)
          }}
        />
        <span>Single-key shortcuts in this browser</span>
      </label>
      <dl class="shortcuts">
        <Shortcut keys={paletteKeys} does="Search pages and projects" />
        <Shortcut keys="?" does="Show this help" />
        {places.filter(hasKey).map(({ key, name }) => (
          <Shortcut key={key} keys={`g ${key}`} does={`Go to ${name}`} />
        ))}
        {projectId &&
          Object.entries(viewKeys).map(([key, { does }]) => (
            <Shortcut key={key} keys={key} does={does} />
          ))}
      </dl>
      <div class="actions">
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  )
}

const hasKey = (place: Place): boolean => place.key !== undefined

function Shortcut({ keys, does }: { keys: string; does: string }) {
  return (
    <div>
      <dt>
        {keys.split(' ').map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </dt>
      <dd>{does}</dd>
    </div>
  )
}
