import { useId, useState } from 'preact/hooks'
import { type OwnProject, ownProjects, type Session } from '../api.ts'
import { Dialog } from '../components/dialog.tsx'
import { currentSearch, go } from '../router.tsx'
import {
  accountPlace,
  addressOf,
  type Place,
  placesFor,
  projectAddress,
  projectPlaces,
} from '../routes.ts'
import { useQuery } from '../useQuery.ts'
import { viewSearch } from '../view/view.ts'

interface Entry {
  name: string
  /** Owner of the page. */
  of: string
  address: string
}

/** Subjects of pages that their names do not contain, by the names. */
const subjects: Readonly<Record<string, string>> = {
  Members: 'invite roles users team',
  Usage: 'billing budgets limits cost invoice',
  'API keys': 'secrets tokens',
  Privacy: 'retention opt-outs erasures access requests gdpr',
  Operator: 'health stores jobs dead letters',
  Goals: 'conversions revenue',
  Events: 'live',
  Visitors: 'people companies match rate identity',
  Integrations: 'crm webhook s3 hubspot salesforce',
  Sharing: 'share links embed',
  Repairs: 'rejected events delete',
  'Pixels and members': 'snippet install tag',
  Settings: 'time zone ignored traffic',
}

/** Ctrl-K: finds a page of the organization and its projects by letters of its name. */
export function Palette({
  session,
  projectId,
  close,
}: {
  session: Session
  projectId: string | undefined
  close(): void
}) {
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const projects = useQuery(ownProjects)
  const id = useId()
  const found = entriesOf(session, projects.value ?? [], projectId)
    .filter(({ name, of }) => containsAll(`${of} ${name} ${subjects[name] ?? ''}`, text))
    .slice(0, shownMax)

  const follow = (entry: Entry | undefined) => {
    if (!entry) return
    close()
    go(entry.address)
  }
  const move = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 }
    const step = steps[event.key]
    if (step && found.length > 0) {
      event.preventDefault()
      setChosen((chosen + step + found.length) % found.length)
    }
    if (event.key === 'Enter') {
      event.preventDefault()
      follow(found[chosen])
    }
  }
  return (
    <Dialog title="Go to…" close={close}>
      <input
        type="text"
        role="combobox"
        aria-label="Page or project"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={found[chosen] && `${id}-${chosen}`}
        aria-autocomplete="list"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value)
          setChosen(0)
        }}
        onKeyDown={move}
      />
      <div id={id} class="palette" role="listbox" aria-label="Pages">
        {found.map((entry, index) => (
          // The input receives the keys, and identifies the active option.
          // biome-ignore lint/a11y/useFocusableInteractive: as above
          // biome-ignore lint/a11y/useKeyWithClickEvents: as above
          <div
            key={entry.address}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === chosen}
            onClick={() => follow(entry)}
            onMouseMove={() => setChosen(index)}
          >
            {entry.name} <small>{entry.of}</small>
          </div>
        ))}
      </div>
      <p class="hint" role="status">
        {found.length === 0 ? 'No page or project matches.' : ''}
      </p>
    </Dialog>
  )
}

const shownMax = 12

/** Returns the pages of the current project first, then the organization's, then those of other projects. */
function entriesOf(
  session: Session,
  projects: OwnProject[],
  projectId: string | undefined,
): Entry[] {
  const { organization } = session
  const { organization_id } = organization
  const isNamed = (place: Place): place is Place & { name: string } => place.name !== undefined
  const isHere = ({ project_id }: OwnProject) => project_id === projectId
  const ofProject = (project: OwnProject): Entry[] =>
    projectPlaces.filter(isNamed).map((place) => ({
      name: place.name,
      of: project.name,
      address:
        projectAddress(organization_id, project.project_id, place) +
        (place.hasView && isHere(project) ? viewSearch(currentSearch.value) : ''),
    }))
  return [
    ...projects.filter(isHere).flatMap(ofProject),
    ...[...placesFor(session), accountPlace].filter(isNamed).map((place) => ({
      name: place.name,
      of: organization.name,
      address: addressOf(organization_id, place),
    })),
    ...projects.filter((project) => !isHere(project)).flatMap(ofProject),
  ]
}

/** Whether all words of `text` are in `name`. */
const containsAll = (name: string, text: string): boolean =>
  text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => name.toLowerCase().includes(word))
