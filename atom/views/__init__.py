"""View-models: one module a page, plain frozen values; no Streamlit."""
