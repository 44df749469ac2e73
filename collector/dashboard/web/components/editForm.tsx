import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, type Versioned } from '../api.ts'
import { Form, type FormProps, type Values } from './form.tsx'
import { SaveBar } from './saveBar.tsx'
import { UnsavedChanges } from './unsavedChanges.tsx'

interface Edit<T extends Versioned, Kind extends string> {
  object: T
  /** Name of the object in responses: the saved one, and with 409 the current one. */
  kind: Kind
  valuesOf(object: T): Values
  save(values: Values, version: number): Promise<Record<Kind, T>>
  saved(object: T): void
}

/**
 * A form for an object that others may change at the same time. An update names the version it started from.
 * If that is no longer current, the form shows the other change next to the fields, and the user decides.
 */
export function EditForm<T extends Versioned, Kind extends string>({
  object,
  kind,
  valuesOf,
  save,
  saved,
  action = 'Save',
  cancel,
  isLong = false,
  refused,
  children,
}: Pick<FormProps, 'refused' | 'children'> &
  Edit<T, Kind> & {
    action?: string
    cancel?(): void
    /** Keeps the buttons visible while there are unsaved changes, and asks before these are lost. */
    isLong?: boolean
  }) {
  const { base, theirs, edited, setEdited, round, element, submit, fillWith } = useEdit({
    object,
    kind,
    valuesOf,
    save,
    saved,
  })
  const unsaved = edited ? countChanges(valuesOf(base), edited) : 0
  const actionNow = theirs ? 'Save my changes anyway' : action

  return (
    <div ref={element}>
      <Form
        key={round}
        submit={submit}
        action={actionNow}
        values={valuesOf(base)}
        {...(theirs && { theirs: changes(valuesOf(base), valuesOf(theirs)) })}
        {...(cancel && { cancel })}
        {...(refused && { refused })}
        {...(isLong && {
          edited: setEdited,
          buttons: (isBusy: boolean) => (
            <SaveBar
              count={unsaved}
              action={actionNow}
              isBusy={isBusy}
              discard={() => fillWith(base)}
            />
          ),
        })}
      >
        {children}
        {theirs && <ConflictNotice use={() => fillWith(theirs)} />}
      </Form>
      {isLong && <UnsavedChanges count={unsaved} />}
    </div>
  )
}

/** The state of an edit: the stored object, the change of somebody else, and the edited values. A hook. */
function useEdit<T extends Versioned, Kind extends string>({
  object,
  kind,
  valuesOf,
  save,
  saved,
}: Edit<T, Kind>) {
  const [base, setBase] = useState(object)
  const [theirs, setTheirs] = useState<T | null>(null)
  const [edited, setEdited] = useState<Values | null>(null)
  /** Number of times the fields were filled again. */
  const [round, setRound] = useState(0)
  const element = useRef<HTMLDivElement>(null)

  useEffect(() => {
    if (round > 0) element.current?.querySelector<HTMLElement>('input, select, textarea')?.focus()
  }, [round])

  const submit = async (values: Values, version = (theirs ?? base).version): Promise<void> => {
    let now: T
    try {
      now = (await save(values, version))[kind]
    } catch (error) {
      const current = currentOf<T>(error, kind)
      if (!current) throw error
      const isOurs = Object.keys(changes(valuesOf(base), valuesOf(current))).length === 0
      // The other change does not concern any field that this form changes.
      if (isOurs) return submit(values, current.version)
      return setTheirs(current)
    }
    setBase(now)
    setTheirs(null)
    setEdited(null)
    saved(now)
  }

  /** Fills the fields with the stored values, changed or original. */
  const fillWith = (object: T) => {
    setBase(object)
    setTheirs(null)
    setEdited(null)
    setRound(round + 1)
  }

  return { base, theirs, edited, setEdited, round, element, submit, fillWith }
}

function ConflictNotice({ use }: { use(): void }) {
  return (
    <div class="notice" role="alert">
      <p>
        <strong>Someone else changed this at the same time.</strong> Your changes are not saved. The
        other changes are shown below the fields.
      </p>
      <button type="button" onClick={use}>
        Use the other changes
      </button>
    </div>
  )
}

const currentOf = <T,>(error: unknown, kind: string): T | null =>
  error instanceof ApiError && error.status === 409 && error.code === 'conflict'
    ? ((error.details[kind] as T | undefined) ?? null)
    : null

/** The values of `after` that differ from `before`. */
const changes = (before: Values, after: Values): Values =>
  Object.fromEntries(Object.entries(after).filter(([name, value]) => value !== before[name]))

/** Counts changed fields; an unchecked box has no value. */
const countChanges = (before: Values, now: Values): number =>
  Object.entries(before).filter(([name, value]) => value !== (now[name] ?? '')).length
