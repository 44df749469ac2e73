import type { ComponentChildren } from 'preact'
import { Logo } from './logo.tsx'

/** The layout of pages before sign-in. */
export function AuthLayout({ children }: { children: ComponentChildren }) {
  return (
    <main class="auth">
      <div class="brand">
        <Logo />
        Footfall
      </div>
      <div class="card">{children}</div>
    </main>
  )
}
