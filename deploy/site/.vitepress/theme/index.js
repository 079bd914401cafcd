/** VitePress's own theme, with pictures drawn from their text in the page. */
import { useData, useRoute } from "vitepress";
import DefaultTheme from "vitepress/theme";
import { nextTick, onMounted, watch } from "vue";

async function drawPictures(isDark) {
  const nodes = [...document.querySelectorAll("pre.mermaid")];
  if (nodes.length === 0) return;
  const { default: mermaid } = await import("mermaid");
  mermaid.initialize({ startOnLoad: false, theme: isDark ? "dark" : "neutral", securityLevel: "strict" });
  for (const node of nodes) {
    node.dataset.text ??= node.textContent;
    node.textContent = node.dataset.text;
    delete node.dataset.processed;
  }
  await mermaid.run({ nodes });
}

export default {
  extends: DefaultTheme,
  setup() {
    const route = useRoute();
    const { isDark } = useData();
    const draw = () => nextTick(() => drawPictures(isDark.value));
    onMounted(draw);
    watch([() => route.path, isDark], draw);
  },
};
