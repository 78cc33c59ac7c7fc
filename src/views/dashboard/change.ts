import { html } from 'hono/html'

/** The forms that change a counter, and the dialog in which they ask. `src/browser/dashboard/` has what they do. */
export const CHANGE = html`<details class="card fold" id="change">
<summary><h2>Change this counter</h2></summary>
<form id="set" class="row">
<label for="new-count">Set to</label>
<input id="new-count" name="count" inputmode="numeric" required autocomplete="off">
<button>Set …</button>
<button type="button" id="reset" class="danger">Reset to zero …</button>
</form>
<p class="message" id="change-message" role="status"></p>
<form id="move" class="row">
<label for="other-key">Another key</label>
<input id="other-key" name="key" required maxlength="512" autocomplete="off" autocapitalize="off" spellcheck="false">
<button value="rename">Rename …</button>
<button value="merge">Merge …</button>
</form>
<p class="row"><button type="button" id="delete" class="danger">Delete …</button></p>
<p class="message" id="move-message" role="status"></p>
</details>
<dialog id="confirm" aria-labelledby="confirm-title" aria-describedby="confirm-text">
<form method="dialog">
<h2 id="confirm-title">Are you sure?</h2>
<div id="confirm-text"></div>
<div class="row end"><button value="cancel" class="quiet">Cancel</button><button value="confirm" class="danger" id="confirm-button">Go on</button></div>
</form>
</dialog>`
