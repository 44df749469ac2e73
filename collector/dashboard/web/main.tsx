import { render } from 'preact'
import { App } from './app.tsx'
import { ApiError } from './http.ts'
import { toast } from './parts/toast.tsx'

// What a button asked for outside of a form, and did not get.
addEventListener('unhandledrejection', (event) => {
  if (!(event.reason instanceof ApiError)) return
  event.preventDefault()
  toast(event.reason.message)
})

render(<App />, document.getElementById('app')!)
