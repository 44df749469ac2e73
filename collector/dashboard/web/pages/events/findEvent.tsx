import { useId } from 'preact/hooks'
import { setUrl } from '../../urlState.ts'

/** Finds one event by its id, stored or rejected. */
export function FindEvent() {
  const id = useId()
  return (
    <form
      class="find"
      onSubmit={(event) => {
        event.preventDefault()
        const asked = String(new FormData(event.currentTarget).get('event') ?? '').trim()
        if (asked !== '') setUrl({ event: asked })
      }}
    >
      <label class="visually-hidden" for={id}>
        Event id
      </label>
      <input
        id={id}
        name="event"
        type="search"
        placeholder="Event id"
        maxLength={100}
        spellcheck={false}
        autocomplete="off"
      />
      <button type="submit">Find</button>
    </form>
  )
}
