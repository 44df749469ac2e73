<?php
// PHP: what your server gives a signed-in visitor's page for footfall('identify', …).

/** The secret is the pixel's identify secret, which the dashboard shows: it never leaves your server. */
function footfall_identify(string $email, string $secret): array
{
    $hem = hash('sha256', mb_strtolower(trim($email)));
    return ['hem' => $hem, 'signature' => hash_hmac('sha256', $hem, $secret)];
}

// In the page: <script>footfall('identify', <?= json_encode(footfall_identify($user->email, $secret)) ?>)</script>
