import { useRef, useState } from 'preact/hooks'
import { say } from './say.tsx'

/** Text to take along, and a button that copies it. */
export function Copyable({ label, text }: { label: string; text: string }) {
  const code = useRef<HTMLElement>(null)
  const [copied, setCopied] = useState(false)

  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setCopied(true)
      say(`Copied ${label}`)
    } catch {
      // Not to be had on http:// pages of other machines: select it for the reader to copy.
      getSelection()?.selectAllChildren(code.current!)
      say('Selected: copy it with your keyboard')
    }
  }

  return (
    <div class="copyable">
      <pre>
        <code ref={code}>{text}</code>
      </pre>
      <button type="button" onClick={copy} aria-label={`Copy ${label}`}>
        {copied ? 'Copied' : 'Copy'}
      </button>
    </div>
  )
}
