#!/usr/bin/env python
# coding=utf-8

# Copyright 2024 The HuggingFace Inc. team. All rights reserved.
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
# Modified by KADATH: see README.md in this folder.
"""smolagents, vendored: a name loads its module on first use instead of every module at import."""

from importlib import import_module


__version__ = "1.26.0"

_MODULES = {
    "AgentAudio": "agent_types",
    "AgentImage": "agent_types",
    "AgentText": "agent_types",
    "AgentType": "agent_types",
    "AGENT_REGISTRY": "agents",
    "ActionOutput": "agents",
    "CodeAgent": "agents",
    "EMPTY_PROMPT_TEMPLATES": "agents",
    "FinalAnswerPromptTemplate": "agents",
    "ManagedAgentPromptTemplate": "agents",
    "MultiStepAgent": "agents",
    "PlanningPromptTemplate": "agents",
    "PromptTemplates": "agents",
    "RunResult": "agents",
    "ToolCallingAgent": "agents",
    "ToolOutput": "agents",
    "populate_template": "agents",
    "ApiWebSearchTool": "default_tools",
    "DuckDuckGoSearchTool": "default_tools",
    "FinalAnswerTool": "default_tools",
    "GoogleSearchTool": "default_tools",
    "PythonInterpreterTool": "default_tools",
    "SpeechToTextTool": "default_tools",
    "UserInputTool": "default_tools",
    "VisitWebpageTool": "default_tools",
    "WebSearchTool": "default_tools",
    "WikipediaSearchTool": "default_tools",
    "LocalPythonExecutor": "local_python_executor",
    "evaluate_python_code": "local_python_executor",
    "MCPClient": "mcp_client",
    "AgentMemory": "memory",
    "AmazonBedrockModel": "models",
    "AmazonBedrockServerModel": "models",
    "ApiModel": "models",
    "AzureOpenAIModel": "models",
    "AzureOpenAIServerModel": "models",
    "ChatMessage": "models",
    "InferenceClientModel": "models",
    "LiteLLMModel": "models",
    "LiteLLMRouterModel": "models",
    "MLXModel": "models",
    "MessageRole": "models",
    "Model": "models",
    "OpenAIModel": "models",
    "OpenAIServerModel": "models",
    "REMOVE_PARAMETER": "models",
    "TransformersModel": "models",
    "VLLMModel": "models",
    "get_clean_message_list": "models",
    "tool_role_conversions": "models",
    "AgentLogger": "monitoring",
    "LogLevel": "monitoring",
    "Monitor": "monitoring",
    "Timing": "monitoring",
    "TokenUsage": "monitoring",
    "AUTHORIZED_TYPES": "tools",
    "Tool": "tools",
    "ToolCollection": "tools",
    "launch_gradio_demo": "tools",
    "load_tool": "tools",
    "tool": "tools",
    "AgentError": "utils",
}

__all__ = [*_MODULES]


def __getattr__(name: str):
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value
