// A single-page application: it shows the section of the address, and changes the address without loading a page.
const links = document.querySelectorAll('a[data-section]')

function render() {
  const here = location.pathname + location.search
  const link = [...links].find((link) => link.getAttribute('href') === here)
  document.getElementById('section').textContent = link?.dataset.section ?? 'Nothing here'
}

for (const link of links) {
  link.addEventListener('click', (event) => {
    event.preventDefault()
    history.pushState(null, '', link.href)
    render()
  })
}
addEventListener('popstate', render)
render()
