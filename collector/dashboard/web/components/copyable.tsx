import { useRef, useState } from 'preact/hooks'

/** A text with a button that copies it. */
export function Copyable({ label, text }: { label: string; text: string }) {
  const code = useRef<HTMLElement>(null)
  const [state, setState] = useState<'copied' | 'selected' | null>(null)

  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setState('copied')
    } catch {
      // The clipboard is not available on http:// pages of other machines: select the text for the user to
      // copy.
      getSelection()?.selectAllChildren(code.current!)
      setState('selected')
    }
  }

  return (
    <div class="copyable">
      <pre>
        <code ref={code}>{text}</code>
      </pre>
      <button type="button" onClick={copy}>
        {state === 'copied' ? 'Copied' : 'Copy'}
        <span class="visually-hidden"> {label}</span>
      </button>
      <p role="status" class={state === 'selected' ? 'hint' : 'visually-hidden'}>
        {state === 'copied' && `Copied ${label}`}
        {state === 'selected' && 'The text is selected. Copy it with your keyboard.'}
      </p>
    </div>
  )
}
