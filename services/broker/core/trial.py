"""The answer every trial gets: no model, no cost, no event."""

CODE = 'final_answer("trial")'
TEXT = f"Thought: this is a trial, so I finish at once.\n```python\n{CODE}\n```"


def completion(model: str) -> dict[str, object]:
    """A chat completion that lets a smolagents agent finish in one step."""
    return {
        "id": "trial",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": TEXT},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    }
