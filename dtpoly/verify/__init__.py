"""The verifier: it reads an emitted file back and proves what it computes."""
